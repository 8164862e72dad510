<?php
/* The workspace that is given up, and the user who goes. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

/* Until the service says that the user is gone, WordPress's clock tries again. */
function carrel_delete( string $uuid ): void {
    wp_schedule_single_event( time() + HOUR_IN_SECONDS, 'carrel_delete', array( $uuid ) );
    list( $status ) = carrel_call( 'DELETE', '/users/' . $uuid, array(), 60 );
    if ( 204 === $status || 404 === $status ) {
        wp_clear_scheduled_hook( 'carrel_delete', array( $uuid ) );
    }
}
add_action( 'carrel_delete', 'carrel_delete' );

/* The workspace goes for good. The next sign-in makes an empty one, under a uuid of its own. */
function carrel_give_up( int $user_id ): void {
    carrel_delete( carrel_uuid( $user_id ) );
    foreach ( array( 'carrel_uuid', 'carrel_made', 'carrel_pending' ) as $name ) {
        delete_user_meta( $user_id, $name );
    }
    delete_transient( 'carrel_token_' . $user_id );
}

add_action( 'delete_user', function ( $user_id ) {
    carrel_turn( $user_id );
    if ( '' !== carrel_made( $user_id ) ) {
        carrel_give_up( $user_id );
    }
} );

/* WordPress' own tools for personal data. What is in a workspace can be read with its user's key alone. */
add_filter( 'wp_privacy_personal_data_exporters', function ( $exporters ) {
    return $exporters + array( 'carrel' => array(
        'exporter_friendly_name' => 'Carrel',
        'callback'               => function ( $email ) {
            $user = get_user_by( 'email', $email );
            $data = $user && '' !== carrel_made( $user->ID ) ? array( array(
                'group_id'    => 'carrel',
                'group_label' => 'Workspace',
                'item_id'     => 'carrel-' . $user->ID,
                'data'        => array(
                    array( 'name' => 'Identity of the workspace', 'value' => carrel_uuid( $user->ID ) ),
                    array( 'name' => 'What is in it', 'value' => 'Encrypted with your password. In the workspace: Settings, Export.' ),
                ),
            ) ) : array();
            return array( 'data' => $data, 'done' => true );
        },
    ) );
} );
add_filter( 'wp_privacy_personal_data_erasers', function ( $erasers ) {
    return $erasers + array( 'carrel' => array(
        'eraser_friendly_name' => 'Carrel',
        'callback'             => function ( $email ) {
            $user   = get_user_by( 'email', $email );
            $is_any = $user && '' !== carrel_made( $user->ID );
            if ( $is_any ) {
                carrel_turn( $user->ID );
                carrel_give_up( $user->ID );
            }
            return array( 'items_removed' => $is_any, 'items_retained' => false, 'messages' => array(), 'done' => true );
        },
    ) );
} );

/* What the page for privacy policies proposes. */
add_action( 'admin_init', function () {
    wp_add_privacy_policy_content( 'Carrel', '<p>Whoever opens a workspace has one at our service Carrel, under a random identity. '
        . 'It receives no name and no e-mail address; the page of the workspace shows the display name in the browser. '
        . 'What is in a workspace is encrypted with a key made of the password; the service keeps the key in its memory alone. '
        . 'Texts that are compared go to the providers of models that the user chooses, or that we name here: …</p>'
        . '<p>The workspace goes when the account is deleted, and from backups after … days.</p>' );
} );
