<?php
/* A new hash is pending until the workspace is encrypted with the new key. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

const CARREL_PENDING_MOST = 3; /* Each sign-in compares with every one. More than one takes a service that dies twice. */
const CARREL_GIVE_UP      = 'give up my workspace';

/* 'open' or 'workspace-absent': the new key counts; 'unknown'; else the code of a refusal: nothing was changed. */
function carrel_rekey( int $user_id, string $new_key, ?string $old_key = null ): string {
    $keys = array( 'new_db_key_hex' => $new_key ) + ( $old_key ? array( 'old_db_key_hex' => $old_key ) : array() );
    $code = carrel_session( $user_id, '/auth/rekey', $keys, 300 );
    if ( 'no-answer' === $code ) {
        /* Whether or not it happened, the key in memory opens the workspace. A sign-in might drop that key. */
        $code = carrel_session( $user_id, '/auth/rekey', $keys, 300 );
        if ( in_array( $code, array( 'old-key-required', 'key-rejected' ), true ) ) {
            $code = carrel_session( $user_id, '/auth/login', array( 'db_key_hex' => $new_key ) );
        }
        return 'open' === $code ? 'open' : 'unknown';
    }
    $is_new_user = 'user-not-provisioned' === $code && 'yes' !== carrel_made( $user_id );
    return $is_new_user ? 'workspace-absent' : $code;
}

/* The hash becomes the only one. Reset links, sessions and what else was pending end with it. */
function carrel_promote( int $user_id, string $hash ): void {
    global $wpdb;
    $values = array( 'user_pass' => $hash, 'user_activation_key' => '' );
    $wpdb->update( $wpdb->users, $values, array( 'ID' => $user_id ) );
    clean_user_cache( $user_id );
    WP_Session_Tokens::get_instance( $user_id )->destroy_all();
    delete_user_meta( $user_id, 'carrel_pending' );
}

/* 'changed'; 'unknown', after which the next sign-in decides; else why nothing was changed. */
function carrel_replace( int $user_id, string $new, ?string $old = null ): string {
    if ( ! carrel_turn( $user_id ) ) {
        return 'unavailable';
    }
    $hash = wp_hash_password( $new );
    if ( '' === carrel_made( $user_id ) ) {
        carrel_promote( $user_id, $hash );
        return 'changed';
    }
    if ( count( get_user_meta( $user_id, 'carrel_pending' ) ) >= CARREL_PENDING_MOST ) {
        return 'too-many-pending';
    }
    if ( in_array( carrel_session( $user_id, '/auth/refresh' ), array( 'no-answer', 'unavailable' ), true ) ) {
        return 'unavailable'; /* Asked first, so that a service that is down leaves nothing pending. */
    }
    $uuid = carrel_uuid( $user_id );
    $key  = carrel_key_hex( $new, $uuid );
    add_user_meta( $user_id, 'carrel_pending', $hash );
    $code = carrel_rekey( $user_id, $key );
    if ( 'old-key-required' === $code && null !== $old ) {
        $code = carrel_rekey( $user_id, $key, carrel_key_hex( $old, $uuid ) );
    }
    if ( in_array( $code, array( 'open', 'workspace-absent' ), true ) ) {
        carrel_promote( $user_id, $hash );
        return 'changed';
    }
    if ( 'unknown' !== $code ) {
        delete_user_meta( $user_id, 'carrel_pending', $hash );
    }
    return $code;
}

function carrel_why( string $code ): string {
    $texts = array(
        'unknown'          => 'The connection broke. Sign in with the new password; if it is refused, with the old one.',
        'unavailable'      => 'Your workspace cannot be reached right now. Nothing was changed; please try again later.',
        'too-many-pending' => 'Sign in first, with one of the passwords that you have chosen lately.',
        'old-key-required' => 'Your workspace is encrypted with your old password. Please enter that as well.',
        'key-rejected'     => 'This old password does not open your workspace. Nothing was changed.',
        'link-used'        => 'This link is no longer valid. Please ask for a new one.',
    );
    return $texts[ $code ] ?? esc_html( "Nothing was changed ($code)." );
}

/* The form for the user who knows the old password: wp-login.php?action=carrel_password */
add_action( 'login_form_carrel_password', function () {
    if ( ! is_user_logged_in() ) {
        auth_redirect();
    }
    $errors = new WP_Error();
    if ( isset( $_POST['old'], $_POST['pass1'], $_POST['pass2'] ) && check_admin_referer( 'carrel_password' ) ) {
        /* Slashed and trimmed, as WordPress takes passwords. */
        list( $old, $new ) = array( trim( $_POST['old'] ), trim( $_POST['pass1'] ) );
        if ( '' === $new || $new !== trim( $_POST['pass2'] ) ) {
            $errors->add( 'carrel', 'The two new passwords differ.' );
        } else {
            /* This counts among the tries, settles what is pending and opens the workspace. */
            $user = wp_authenticate( wp_get_current_user()->user_login, $old );
            $code = is_wp_error( $user ) ? '' : carrel_replace( $user->ID, $new, $old );
            if ( 'changed' === $code ) {
                wp_set_auth_cookie( $user->ID );
                wp_safe_redirect( admin_url( CARREL_PAGE ) );
                exit;
            }
            is_wp_error( $user ) ? $errors = $user : $errors->add( 'carrel', carrel_why( $code ) );
        }
    }
    login_header( 'Change password', '', $errors );
    ?>
<form method="post" action="<?php echo esc_url( site_url( 'wp-login.php?action=carrel_password', 'login_post' ) ); ?>">
    <?php wp_nonce_field( 'carrel_password' ); ?>
    <p><label>Present password <input class="input" type="password" name="old" autocomplete="current-password" required></label></p>
    <p><label>New password <input class="input" type="password" name="pass1" autocomplete="new-password" required></label></p>
    <p><label>New password again <input class="input" type="password" name="pass2" autocomplete="new-password" required></label></p>
    <p><input class="button button-primary" type="submit" value="Change password"></p>
</form>
    <?php
    login_footer();
    exit;
} );

/* The form behind the link of a mail asks for more, and WordPress goes on only if there is no error. */
add_action( 'resetpass_form', function ( $user ) {
    if ( '' !== carrel_made( $user->ID ) ) {
        printf(
            '<p><label>Old password, if you know it <input class="input" type="password" name="carrel_old" autocomplete="off"></label></p>
            <p><label>Or type “%s” to lose what is in it <input class="input" name="carrel_phrase" autocomplete="off"></label></p>',
            esc_html( CARREL_GIVE_UP )
        );
    }
} );

add_action( 'validate_password_reset', function ( $errors, $user ) {
    if ( ! $user instanceof WP_User || $errors->has_errors() || empty( $_POST['pass1'] ) ) {
        return;
    }
    if ( ! carrel_turn( $user->ID ) ) {
        $errors->add( 'carrel', carrel_why( 'unavailable' ) );
        return;
    }
    $code = '';
    if ( get_userdata( $user->ID )->user_activation_key !== $user->user_activation_key ) {
        $code = 'link-used'; /* In another tab, while this one waited. */
    } elseif ( CARREL_GIVE_UP === trim( $_POST['carrel_phrase'] ?? '' ) ) {
        carrel_give_up( $user->ID );
    }
    if ( '' === $code ) {
        $code = carrel_replace( $user->ID, trim( $_POST['pass1'] ), trim( $_POST['carrel_old'] ?? '' ) ?: null );
    }
    if ( 'changed' !== $code ) {
        $errors->add( 'carrel', carrel_why( $code ) );
    }
}, 1000, 2 );

/* Forms of other plugins come here only. WordPress stores the new hash next, unless this ends the request. */
add_action( 'password_reset', function ( $user, $new ) {
    if ( wp_check_password( trim( $new ), get_userdata( $user->ID )->user_pass, $user->ID ) ) {
        return; /* It was done above. */
    }
    $code = carrel_replace( $user->ID, trim( $new ) );
    'changed' === $code || wp_die( carrel_why( $code ), '', 409 );
}, 1, 2 );

/* The profile page, REST and WP-CLI store a new hash and know no old password: not for users with a workspace. */
add_filter( 'wp_pre_insert_user_data', function ( $data, $is_update, $user_id ) {
    $is_new = $is_update && get_userdata( $user_id )->user_pass !== ( $data['user_pass'] ?? '' );
    return $is_new && '' !== carrel_made( $user_id ) ? array() : $data;
}, 1000, 3 );
add_filter( 'show_password_fields', fn( $is_shown, $user ) => $is_shown && '' === carrel_made( $user->ID ), 10, 2 );
